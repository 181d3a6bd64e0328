"""What is drawn, as ECharts options: from numbers alone, with no page around them."""

"""Charts as ECharts options: made from numbers alone, with no page around them."""

// Scroll to the end of the page once; return its height, by which the caller sees whether it grew.
() => {
  const page = document.scrollingElement || document.documentElement;
  const end = page.scrollHeight;
  window.scrollTo(0, end);
  window.dispatchEvent(new Event("scroll"));
  return end;
}

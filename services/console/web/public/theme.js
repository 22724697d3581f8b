// Runs before the first paint, so that a page never flashes in the other theme.
const chosen = localStorage.getItem('switchyard-theme')
const dark = matchMedia('(prefers-color-scheme: dark)').matches
document.documentElement.dataset.theme =
  chosen === 'light' || chosen === 'dark' ? chosen : dark ? 'dark' : 'light'

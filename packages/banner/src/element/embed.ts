import { SwitchyardBanner } from './switchyard-banner.js'

const name = 'switchyard-banner'

/**
 * Adds an element at the top of a page that has none, so that a script tag is enough. Does so again whenever
 * the page is replaced by one without an element.
 */
function embed(): void {
  const banner = document.createElement(name)
  const add = () => {
    if (!document.querySelector(name)) document.body?.prepend(banner)
    // Some sites, such as those with Turbo, replace the body or its content; a few replace the whole
    // document. A node is observed once, however often this function runs.
    for (const node of [document, document.documentElement, document.body])
      if (node) observer.observe(node, { childList: true })
  }
  const observer = new MutationObserver(add)
  add()
}

const isManual = document.currentScript?.hasAttribute('data-manual')
if (!customElements.get(name)) {
  customElements.define(name, SwitchyardBanner)
  if (!isManual) {
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', embed)
    else embed()
  }
}

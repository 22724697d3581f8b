import { SwitchyardBanner } from './switchyard-banner.js'

const name = 'switchyard-banner'

/** Adds the element at the top of a page that has none, so that a script tag is enough. */
function embed(): void {
  if (!document.querySelector(name)) document.body.prepend(document.createElement(name))
}

const isManual = document.currentScript?.hasAttribute('data-manual')
if (!customElements.get(name)) {
  customElements.define(name, SwitchyardBanner)
  if (!isManual) {
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', embed)
    else embed()
  }
}

import { SwitchyardBanner } from './switchyard-banner.js'

const name = 'switchyard-banner'

/** One script tag is enough: a page without the element gets one, at its top. */
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

import { createRequire } from 'node:module'

/** The file of the web component, to be served as it is. Found by name: a bundled service has no module beside it. */
export const bannerScriptFile = createRequire(import.meta.url).resolve('@switchyard/banner/banner.js')

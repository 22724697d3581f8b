import { fileURLToPath } from 'node:url'

/**
 * The file of the web component, to be served as it is. It lies beside the compiled form of this module, and
 * is found from the source as well.
 */
export const bannerScriptFile = fileURLToPath(new URL('../dist/banner.js', import.meta.url))

import { createRequire } from 'node:module'

/**
 * Path of the web component's script. It is resolved by package name, because a bundled service has no module
 * beside it.
 */
export const bannerScriptFile = createRequire(import.meta.url).resolve('@switchyard/banner/banner.js')

import { createRequire } from 'node:module'

/**
 * The API of all services as an OpenAPI 3.1 document. Found by name: a bundled service has no module beside
 * it.
 */
export const openApiFile = createRequire(import.meta.url).resolve('@switchyard/contracts/openapi.json')

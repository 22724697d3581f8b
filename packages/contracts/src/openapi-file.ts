import { createRequire } from 'node:module'

/**
 * Path of the OpenAPI 3.1 document of all services. The path is resolved by name, because a bundled service
 * has no module beside it.
 */
export const openApiFile = createRequire(import.meta.url).resolve('@switchyard/contracts/openapi.json')

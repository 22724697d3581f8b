import { fileURLToPath } from 'node:url'

/** The API of all services as an OpenAPI 3.1 document. */
export const openApiFile = fileURLToPath(new URL('../openapi.json', import.meta.url))

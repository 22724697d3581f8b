import { fileURLToPath } from 'node:url'
import { defineConfig } from '@hey-api/openapi-ts'

/** Settings of the generator for the types of the API's answers and bodies. */
export default defineConfig({
  input: fileURLToPath(import.meta.resolve('@switchyard/contracts/openapi.json')),
  output: { path: 'web/src/generated', indexFile: false },
  plugins: ['@hey-api/typescript'],
})

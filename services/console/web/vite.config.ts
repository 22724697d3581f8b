import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'
import { compression } from 'vite-plugin-compression2'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  resolve: { conditions: ['@switchyard/source', ...defaultClientConditions] },
  plugins: [react(), tailwindcss(), compression({ algorithms: ['gzip', 'brotliCompress'] })],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // A data: address in a style would be refused by the policy of the pages.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})

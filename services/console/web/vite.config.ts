import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listBrowserPackages } from '@switchyard/bundler/list-browser-packages.mjs'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compression } from 'vite-plugin-compression2'

const packages = listBrowserPackages(join(import.meta.dirname, '../dist/browser-packages.json'), [
  fileURLToPath(import.meta.resolve('tailwindcss/index.css')),
])

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [
    react({ jsxImportSource: '#visible' }),
    tailwindcss(),
    compression({ algorithms: ['gzip', 'brotliCompress'] }),
    packages.ofPages,
  ],
  worker: { plugins: () => packages.ofWorkers },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // The content security policy would refuse a data: address in a style.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})

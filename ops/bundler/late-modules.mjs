import { dirname, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const resolved = Symbol('resolved')
const namespace = 'late-module'

/**
 * Packages in CommonJS that are loaded when first needed, `await import('undici')`, have the names there that
 * Node gives them; esbuild alone gives them none but `default`, so that what works from sources fails in a
 * bundle.
 */
export const lateModules = {
  name: 'late-modules',
  setup(build) {
    const folder = build.initialOptions.absWorkingDir
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === resolved) return undefined
      const found = await build.resolve(path, { kind: 'import-statement', resolveDir, pluginData: resolved })
      // What is written as modules of today has its names in esbuild, too.
      if (found.errors.length > 0 || found.external || found.path.endsWith('.mjs')) return found
      // Bundles name their modules by these paths, and are the same wherever the checkout is.
      return { path: relative(folder, found.path), namespace }
    })
    build.onLoad({ filter: /./, namespace }, async ({ path: ownPath }) => {
      const path = resolve(folder, ownPath)
      const names = Object.keys(await import(pathToFileURL(path).href)).filter((name) => isName.test(name))
      const contents = `import * as all from ${JSON.stringify(path)}
        export default all.default
        export const { ${names.join(', ')} } = all`
      return { contents, resolveDir: dirname(path) }
    })
  },
}

const isName = /^(?!default$)[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

import { dirname, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const resolved = Symbol('resolved')
const namespace = 'late-module'

/**
 * Gives CommonJS packages that are loaded late, as by `await import('undici')`, the named exports that Node
 * gives them. esbuild alone gives them only `default`, so code that works from sources would fail in a
 * bundle.
 */
export const lateModules = {
  name: 'late-modules',
  setup(build) {
    const folder = build.initialOptions.absWorkingDir
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === resolved) return undefined
      const found = await build.resolve(path, { kind: 'import-statement', resolveDir, pluginData: resolved })
      // ES modules have their names in esbuild, too.
      if (found.errors.length > 0 || found.external || found.path.endsWith('.mjs')) return found
      // Bundles name their modules by these paths, so they are equal wherever the checkout is.
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

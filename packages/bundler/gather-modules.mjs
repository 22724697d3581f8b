import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import ts from 'typescript'
import { readManifest } from './packages-of.mjs'

/**
 * The built modules and types that an entry of a package needs, also those of other packages of this workspace, which nobody can
 * install: their modules lie in a folder beside the package's own, and are imported from there.
 *
 * @param folder of the package
 * @param entry of its `exports`: `types` and `default`
 * @returns each module by its path, the libraries that they import, and the paths of the entry
 */
export function gatherModules(folder, entry) {
  const modules = new Map()
  const libraries = new Set()

  function add(owner, file) {
    const path = pathOf(folder, owner, file)
    if (modules.has(path)) return path
    modules.set(path, '')
    const text = readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, '')
    const replace = (specifier) => {
      const found = resolve(owner, file, specifier)
      if (!found) return specifier
      const to = add(found.owner, found.file).replace(/\.d\.ts$/, '.js')
      const way = posix.relative(posix.dirname(path), to)
      return way.startsWith('.') ? way : `./${way}`
    }
    modules.set(path, withSpecifiers(text, replace))
    return path
  }

  function resolve(owner, file, specifier) {
    const isTypes = file.endsWith('.d.ts')
    if (specifier.startsWith('.')) {
      const module = join(dirname(file), specifier)
      return { owner, file: isTypes ? module.replace(/\.js$/, '.d.ts') : module }
    }
    if (specifier.startsWith('node:')) return undefined
    const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier)
    if (!name.startsWith('@switchyard/')) {
      libraries.add(name)
      return undefined
    }
    const other = realpathSync(join(owner, 'node_modules', name))
    const exported = readManifest(other).exports[`.${rest}`]
    return { owner: other, file: join(other, isTypes ? exported.types : exported.default) }
  }

  const main = add(folder, join(folder, entry.default))
  const types = add(folder, join(folder, entry.types))
  return { modules, libraries, main: `./${main}`, types: `./${types}` }
}

/** `dist/client.js` of the package itself; of another one `dist/contracts/saga.js`. */
function pathOf(folder, owner, file) {
  const path = relative(owner, file).split(sep).join('/')
  return owner === folder ? path : path.replace(/^dist\//, `dist/${posix.basename(owner)}/`)
}

/** A text of a module or of types, with other specifiers of its imports. */
function withSpecifiers(text, replace) {
  let changed = ''
  let end = 0
  for (const { fileName, pos } of ts.preProcessFile(text, true, true).importedFiles) {
    const start = text.indexOf(fileName, pos)
    changed += text.slice(end, start) + replace(fileName)
    end = start + fileName.length
  }
  return changed + text.slice(end)
}

import { cpSync, existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readManifest } from './packages-of.mjs'

/**
 * Copies a package without modules: its manifest, the published folders, and the files that `exports` names.
 */
export function copyFiles(folder, to) {
  const { files = [], exports = {} } = readManifest(folder)
  const named = Object.values(exports).filter((path) => typeof path === 'string' && !/\*|\.ts$/.test(path))
  for (const path of ['package.json', ...files.filter((file) => !/^!?dist\b/.test(file)), ...named])
    cpSync(join(folder, path), join(to, path), { recursive: true })
}

/** The packages in `node_modules` of a new folder. */
export class CopiedPackages {
  /** The sources of the packages, by their targets. */
  copied = new Map()

  /**
   * Starts with no packages.
   *
   * @param withOptional whether optional packages are included, whose programs are only for this machine
   */
  constructor(target, { withOptional = true } = {}) {
    this.target = target
    this.withOptional = withOptional
  }

  /**
   * Copies a package with all its dependencies. Optional packages of other systems are not installed. A
   * second version of a package lies below the package that needs it.
   *
   * @param from the folder from which Node would find the package
   */
  add(name, from, { parent, optional = false } = {}) {
    const link = findPackage(name, from)
    if (link === undefined && optional) return
    if (link === undefined) throw new Error(`${from} depends on ${name}, which is not installed`)
    const folder = realpathSync(link)
    const top = join(this.target, 'node_modules', name)
    if (this.copied.get(top) === folder) return
    const to = this.copied.has(top) ? join(parent, 'node_modules', name) : top
    this.copied.set(to, folder)
    if (name.startsWith('@switchyard/')) return copyFiles(folder, to)
    cpSync(folder, to, {
      recursive: true,
      filter: (path) => !path.endsWith('.map') && path !== join(folder, 'node_modules'),
    })
    const { dependencies, optionalDependencies = {} } = readManifest(folder)
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const optional = dependency in optionalDependencies
      if (!optional || this.withOptional) this.add(dependency, folder, { parent: to, optional })
    }
  }

  /** Returns the manifests of all copied packages. */
  manifests() {
    return [...this.copied.values()].map((folder) => join(folder, 'package.json'))
  }
}

/** Finds the folder of a package, as Node does from a folder. */
function findPackage(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(path)) return path
    if (folder === dirname(folder)) return undefined
  }
}

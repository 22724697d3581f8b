import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import ts from 'typescript'
import { readManifest } from './packages-of.mjs'

/**
 * Collects the modules and types that an entry of a package needs. Modules of other packages of this
 * workspace, which nobody can install, are put into a folder beside the package's own, and imported from
 * there.
 *
 * @param folder of the package
 * @param source the file of the entry
 * @returns each module by its path, the libraries that they import, and the paths of the entry
 */
export function gatherModules(folder, source) {
  const modules = new Map()
  const libraries = new Set()

  function add(owner, file, extension) {
    const path = pathOf(folder, owner, file).replace(/\.ts$/, extension)
    if (modules.has(path)) return path
    modules.set(path, '')
    const replace = (specifier) => {
      const found = resolve(owner, file, specifier)
      if (!found) return specifier
      const to = add(found.owner, found.file, extension).replace(/\.d\.ts$/, '.js')
      const way = posix.relative(posix.dirname(path), to)
      return way.startsWith('.') ? way : `./${way}`
    }
    modules.set(path, withSpecifiers(transpile(file, extension), replace))
    return path
  }

  function resolve(owner, file, specifier) {
    if (specifier.startsWith('.'))
      return { owner, file: join(dirname(file), specifier.replace(/\.js$/, '.ts')) }
    if (specifier.startsWith('node:')) return undefined
    const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier)
    if (!name.startsWith('@switchyard/')) {
      libraries.add(name)
      return undefined
    }
    const other = realpathSync(join(owner, 'node_modules', name))
    return { owner: other, file: join(other, readManifest(other).exports[`.${rest}`]) }
  }

  const main = add(folder, join(folder, source), '.js')
  const types = add(folder, join(folder, source), '.d.ts')
  return { modules, libraries, main: `./${main}`, types: `./${types}` }
}

/**
 * Returns the path of a module: `dist/client.ts` in the package itself, `dist/contracts/saga.ts` for another
 * package.
 */
function pathOf(folder, owner, file) {
  const path = relative(join(owner, 'src'), file).split(sep).join('/')
  return owner === folder ? `dist/${path}` : `dist/${posix.basename(owner)}/${path}`
}

const compilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  isolatedModules: true,
}

/**
 * Transpiles one file to JavaScript, or to its types. Exports of packed packages declare their types, so no
 * other file is needed.
 */
function transpile(file, extension) {
  const text = readFileSync(file, 'utf8')
  const { outputText, diagnostics } =
    extension === '.js'
      ? ts.transpileModule(text, { fileName: file, compilerOptions, reportDiagnostics: true })
      : ts.transpileDeclaration(text, {
          fileName: file,
          compilerOptions: { ...compilerOptions, declaration: true, isolatedDeclarations: true },
          reportDiagnostics: true,
        })
  if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, diagnosticsHost))
  return outputText
}

const diagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => '\n',
}

/** Replaces the specifiers of the imports in a module or its types. */
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

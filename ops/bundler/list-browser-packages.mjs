import { existsSync, writeFileSync } from 'node:fs'
import { packagesOf } from './packages-of.mjs'

/**
 * Creates plugins of Vite, for pages and for their workers, that write the list of the packages in both.
 *
 * @param imported files that Vite does not count as modules, such as a style that another style imports
 */
export function listBrowserPackages(file, imported) {
  const files = new Set(imported)
  const collect = {
    name: 'collect-browser-packages',
    apply: 'build',
    buildEnd() {
      for (const id of this.getModuleIds()) files.add(id.split('?')[0])
    },
  }
  const write = {
    name: 'list-browser-packages',
    apply: 'build',
    writeBundle: () => writeFileSync(file, JSON.stringify(packagesOf([...files].filter(existsSync)))),
  }
  return { ofPages: [collect, write], ofWorkers: [collect] }
}

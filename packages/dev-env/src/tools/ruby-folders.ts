import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { multiarchFolders } from './apt-copy.js'

/** The programs under which Debian's releases have Ruby, relative to the root folder. */
export const rubyBinaries = ['usr/bin/ruby3.1', 'usr/bin/ruby3.3', 'usr/bin/ruby3.2', 'usr/bin/ruby3.4']

/** Variables with which a Ruby finds the libraries and gems of Debian packages below a root folder. */
export const rubyFolders = (root: string) => ({ RUBYLIB: libraryFolders(root), GEM_PATH: gemFolders(root) })

/** Where Debian puts Ruby's libraries: of all versions, and of this machine's kind. */
function libraryFolders(root: string): string[] {
  const bases = ['usr/lib/ruby', ...multiarchFolders(root, 'usr/lib').map((folder) => `${folder}/ruby`)]
  return bases
    .flatMap((base) => [
      `${base}/vendor_ruby`,
      ...versions(root, `${base}/vendor_ruby`),
      ...versions(root, base),
    ])
    .filter((folder) => existsSync(join(root, folder)))
}

/** Gems without native code, and those with it. */
const gemFolders = (root: string): string[] => [
  'usr/share/rubygems-integration/all',
  ...multiarchFolders(root, 'usr/lib').flatMap((folder) => versions(root, `${folder}/rubygems-integration`)),
]

const versions = (root: string, folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder))
        .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
        .map((name) => `${folder}/${name}`)
    : []

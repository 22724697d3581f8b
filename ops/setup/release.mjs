// Whether this folder is a checkout or an installed release, which has nothing to set up.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const file = join(root, 'release.json')

/** The version, the commit and the time of the commit of a release; undefined for a checkout. */
export const release = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined

/**
 * How a user types a command.
 *
 * @param name of the command of a release
 * @param inCheckout the same command in a checkout
 */
export const commandOf = (name, inCheckout) => (release ? `switchyard ${name}` : inCheckout)

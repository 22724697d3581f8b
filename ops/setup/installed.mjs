// Whether this folder is a checkout, or an installed release, which needs no setup.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const file = join(root, 'release.json')

/** The version, the commit and the time of the commit of a release; undefined for a checkout. */
export const release = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined

/**
 * Returns a command as a user types it.
 *
 * @param name of the command of a release
 * @param inCheckout the same command in a checkout
 */
export const commandOf = (name, inCheckout) => (release ? `switchyard ${name}` : inCheckout)

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createDatabase, findCaller } from '@switchyard/db'
import { callerOf, createAuthenticator, tokenOf } from '@switchyard/service-kit/http'
import express from 'express'

/**
 * The baseline of trees and files: express, which sends the output of one `git cat-file --batch` to every
 * request with a valid token.
 */
const child = spawn('git', [`--git-dir=${process.env.CAT_FILE_REPOSITORY}`, 'cat-file', '--batch'])
const waiting = []
let bytes = Buffer.alloc(0)
child.stdout.on('data', (chunk) => {
  bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
  for (;;) {
    const end = bytes.indexOf('\n')
    const size = Number(bytes.toString('latin1', 0, Math.max(0, end)).split(' ')[2])
    if (end < 0 || bytes.length < end + size + 2) return
    waiting.shift()?.(bytes.subarray(end + 1, end + 1 + size))
    bytes = bytes.subarray(end + size + 2)
  }
})
const objectOf = (name) =>
  new Promise((resolve) => {
    waiting.push(resolve)
    child.stdin.write(`${name}\n`)
  })

const idBytes = 20

/** Returns the entries of a tree: `<mode> <name>`, a zero byte and the id. */
function entriesOf(tree, folder) {
  const entries = []
  for (let at = 0; at < tree.length; ) {
    const blank = tree.indexOf(' ', at)
    const zero = tree.indexOf(0, blank)
    const name = tree.toString('utf8', blank + 1, zero)
    const mode = tree.toString('latin1', at, blank).padStart(6, '0')
    const id = tree.toString('hex', zero + 1, zero + 1 + idBytes)
    entries.push({ id, name, type: mode === '040000' ? 'tree' : 'blob', path: `${folder}/${name}`, mode })
    at = zero + 1 + idBytes
  }
  return entries
}

const database = createDatabase({
  url: process.env.DATABASE_URL ?? '',
  poolSizeMax: 2,
  applicationName: 'cat-file',
})
const { authenticate } = createAuthenticator((hash) => findCaller(database, hash))
const app = express()
/** `name` is `<commit>:<path>`. */
app.get('/tree', async (request, response) => {
  await callerOf(tokenOf(request.headers), authenticate)
  const name = String(request.query.name)
  response.json(entriesOf(await objectOf(name), name.slice(name.indexOf(':') + 1)))
})
app.get('/raw', async (request, response) => {
  await callerOf(tokenOf(request.headers), authenticate)
  response.type('text').send(await objectOf(String(request.query.name)))
})
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
process.once('disconnect', () => process.exit(0))
process.send?.(server.address().port)

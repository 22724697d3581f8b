import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeLooseObjects } from '../../src/objects/loose-objects.js'
import { newObject } from '../../src/objects/new-object.js'

test('objects are stored while housekeeping removes empty folders', async () => {
  const objectsPath = await mkdtemp(join(tmpdir(), 'switchyard-objects-'))
  const removeEmptyFolders = 'cd "$0" && while :; do rmdir ?? 2>/dev/null; done'
  const removing = spawn('sh', ['-c', removeEmptyFolders, objectsPath], { stdio: 'ignore' })
  const ids: string[] = []
  try {
    // Each folder gets at most one object, so that all of them are empty before.
    for (let index = 0; ids.length < 256; index += 1) {
      const object = await newObject('blob', Buffer.from(`content ${index}`))
      if (ids.some((id) => id.startsWith(object.id.slice(0, 2)))) continue
      ids.push(object.id)
      await writeLooseObjects(objectsPath, [object], async () => {})
    }
  } finally {
    removing.kill()
    await once(removing, 'exit')
  }
  const files = await readdir(objectsPath, { recursive: true })
  const stored = files.filter((name) => name.length === 41).map((name) => name.replace('/', ''))
  expect(stored.sort()).toEqual(ids.sort())
  await rm(objectsPath, { recursive: true })
})

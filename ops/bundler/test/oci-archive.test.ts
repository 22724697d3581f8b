import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'

const module = fileURLToPath(new URL('../oci-archive.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'switchyard-oci-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Creates an image of one layer, whose files these statements add. */
const makeArchive = (name: string, statements: string[], architecture = 'arm64') => {
  const program = `import { writeFileSync } from 'node:fs'
    import { Layer, makeOciArchive } from ${JSON.stringify(module)}
    const layer = new Layer()
    ${statements.join('\n')}
    layer.refuseOtherThan('${architecture}')
    const image = { name: 'app:1', architecture: '${architecture}', created: new Date(86400000), config: { User: '1000' }, layers: [layer] }
    writeFileSync(process.argv[1], await makeOciArchive(image))`
  return execa('node', ['--input-type=module', '--eval', program, join(folder, name)], { reject: false })
}

const files = [
  "layer.add('app/main.js', { mode: 0o755 }, Buffer.from('run()'))",
  "layer.add('bin/sh', { type: 'symlink', mode: 0o777, linkname: 'dash' })",
  "layer.add('data', { type: 'directory', mode: 0o700, uid: 1000 })",
]

it('is equal for the same files in any order, and describes its content', async () => {
  for (const [name, statements] of Object.entries({ one: files, two: files.toReversed() }))
    expect(await makeArchive(name, statements)).toMatchObject({ stderr: '', exitCode: 0 })
  expect(readFileSync(join(folder, 'one')).equals(readFileSync(join(folder, 'two')))).toBe(true)

  const read = async (path: string) =>
    (
      await execa('tar', ['-xOf', join(folder, 'one'), path], {
        encoding: 'buffer',
        stripFinalNewline: false,
      })
    ).stdout
  const blob = ({ digest = '' }) => read(`blobs/${digest.replace(':', '/')}`)
  const json = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString())
  const [described] = json(await read('index.json')).manifests
  expect(described).toMatchObject({ platform: { architecture: 'arm64', os: 'linux' } })
  const manifest = json(await blob(described))
  const config = json(await blob(manifest.config))
  expect(config).toMatchObject({ architecture: 'arm64', os: 'linux', config: { User: '1000' } })
  const tar = gunzipSync(await blob(manifest.layers[0]))
  expect(config.rootfs.diff_ids).toEqual([`sha256:${createHash('sha256').update(tar).digest('hex')}`])
  const { stdout } = await execa('tar', ['-tvf', '-'], { input: tar })
  expect(stdout.split('\n').map((line) => line.replace(/ +\d+ \S+ \S+ /, ' '))).toEqual([
    'drwxr-xr-x 0/0 app/',
    '-rwxr-xr-x 0/0 app/main.js',
    'drwxr-xr-x 0/0 bin/',
    'lrwxrwxrwx 0/0 bin/sh -> dash',
    'drwx------ 1000/1000 data/',
  ])
})

it('refuses a program of another architecture', async () => {
  const other = process.arch === 'arm64' ? 'amd64' : 'arm64'
  const program = `layer.add('bin/node', {}, (await import('node:fs')).readFileSync(process.execPath).subarray(0, 64))`
  const { stderr } = await makeArchive('other', [program], other)
  expect(stderr).toMatch(/bin\/node is for (?:amd64|arm64)/)
})

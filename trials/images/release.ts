import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { execa } from 'execa'
import { repository } from '../../ops/docker/test/support/build-stages.js'
import { imageOf } from './build-images.js'
import { buildah } from './buildah.js'
import { findCosign } from './cosign.js'

const builder = 'https://builder.example.com/switchyard'

/** The files of a release of images, in a folder. */
export interface Release {
  folder: string
  /** Runs each `cosign` line of the recipe for an image. @returns the outputs of those that fail */
  verify(name: string): Promise<string[]>
  /** Reads or writes the signed content of a statement's file. */
  readStatement(file: string): Statement
  writeStatement(file: string, statement: Statement): void
  /** Makes a pair of keys; the public key replaces the former one. */
  makeKeys(): Promise<void>
}

export interface Statement {
  subject: { name: string; digest: { sha256: string } }[]
  predicate: Record<string, unknown>
}

/** Releases images as docs/operations.md describes: an archive of each, signed by ops/docker/sign.mjs. */
export async function releaseImages(names: string[], folder: string): Promise<Release> {
  mkdirSync(folder)
  const cosign = await findCosign()
  const env = { PATH: `${dirname(cosign)}${delimiter}${process.env.PATH}`, COSIGN_PASSWORD: 'of this test' }
  const pathOf = (file: string) => join(folder, file)
  const makeKeys = async () => {
    await execa('sh', ['-c', 'rm -f cosign.key cosign.pub; cosign generate-key-pair'], { cwd: folder, env })
  }
  await makeKeys()
  for (const name of names)
    await buildah('push', imageOf(name), `docker-archive:${pathOf(name)}.tar:switchyard/${name}:0.0.0`)
  const script = join(repository, 'ops/docker/sign.mjs')
  await execa('node', [script, folder, pathOf('cosign.key'), builder], { env })
  return {
    folder,
    makeKeys,
    async verify(name) {
      const results = verifyingCommands().map((line) =>
        execa('sh', ['-c', line.replaceAll('git-api', name)], { cwd: folder, env, all: true, reject: false }),
      )
      return (await Promise.all(results)).filter(({ exitCode }) => exitCode !== 0).map(({ all }) => all)
    },
    readStatement: (file) =>
      JSON.parse(Buffer.from(readEnvelope(pathOf(file)).payload, 'base64').toString('utf8')),
    writeStatement(file, statement) {
      const payload = Buffer.from(JSON.stringify(statement)).toString('base64')
      writeFileSync(pathOf(file), JSON.stringify({ ...readEnvelope(pathOf(file)), payload }))
    },
  }
}

const readEnvelope = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { payload: string }

const recipeLines = (beginning: string) =>
  readFileSync(join(repository, 'SECURITY.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`    ${beginning} `))
    .map((line) => line.trim())

/** Returns the lines of the recipe in SECURITY.md that verify something, each after those that it needs. */
export const verifyingCommands = (): string[] =>
  recipeLines('cosign').map((line) => [...recipeLines('export'), line].join('; '))

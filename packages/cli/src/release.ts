import { once } from 'node:events'
import { open, stat } from 'node:fs/promises'
import * as http from 'node:http'
import * as https from 'node:https'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { type Api, dataOf, fetchInTurn, type Schemas } from './api.js'
import { exitCodes, Failure, usageFailure } from './failure.js'
import { facts, oneLine } from './output.js'
import { examples, projectOption, type Session, say, sayWaiting, sessionOf } from './session.js'

interface UploadOptions {
  project: string
  package: string
  packageVersion?: string
  ref?: string
}

/** Adds `release upload`, which publishes files of a build as a package that a release links to. */
export function addReleaseCommands(program: Command): void {
  const release = program.command('release').description('Publish the files of releases')
  release
    .command('upload')
    .argument('<tag>', 'of the release')
    .argument('<file...>')
    .description('Publish files as a package, and link them to the release')
    .addOption(projectOption())
    .option('--package <name>', 'of the package', 'release')
    .option(
      '--package-version <version>',
      'of the package; else the tag, with - for what a version may not have',
    )
    .option('--ref <ref>', 'make the release where there is none, and its tag there')
    .addHelpText(
      'after',
      `\nWhat was uploaded before is not uploaded twice, so that a pipeline may try again.\n${examples(
        'release upload v1.2.0 dist/app.zip dist/app.deb -p ada/engine',
        'release upload v1.2.0 app.zip -p ada/engine --ref main --package app',
      )}`,
    )
    .action(upload)
}

async function upload(tag: string, files: string[], options: UploadOptions, command: Command) {
  const session = sessionOf(command)
  const { api, show } = session
  const { project: id } = options
  await requireFiles(files)
  await requireRelease(api, id, tag, options.ref)
  const version = options.packageVersion ?? tag.replace(/[^\w.+-]/g, '-')
  const links: Schemas['ReleaseLink'][] = []
  for (const file of files) {
    const name = basename(file)
    const path = { id, package_name: options.package, package_version: version, file_name: name }
    const url = await publish(session, path, file).catch((error: unknown) => {
      throw aboutFile(name, error)
    })
    const body = { name, url, direct_asset_path: `/${name}`, link_type: 'package' as const }
    const params = { path: { id, tag_name: tag } }
    links.push(await dataOf(api.POST('/projects/{id}/releases/{tag_name}/assets/links', { params, body })))
    say(`✓ ${oneLine(name)}`)
  }
  show(links, links.map((link) => facts({ file: link.name, address: link.direct_asset_url })).join('\n'))
}

/** Adds the name of the file to the refusal of the server. */
function aboutFile(name: string, error: unknown): unknown {
  if (!(error instanceof Failure) || error.exitCode !== exitCodes.usage) return error
  const advice = error.message.startsWith('file_name') ? ': names have letters, digits and . _ - + ~ @' : ''
  return usageFailure(`${name} is refused, ${error.message}${advice}`)
}

/** Checks that all files exist, so that a pipeline fails before half of the files are published. */
async function requireFiles(files: string[]) {
  const names = files.map((file) => basename(file))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw usageFailure(`two files are called ${twice}: their links would be the same`)
  for (const file of files) if (!(await stat(file)).isFile()) throw usageFailure(`${file} is no file`)
}

async function requireRelease(api: Api, id: string, tag: string, ref: string | undefined) {
  try {
    await dataOf(api.GET('/projects/{id}/releases/{tag_name}', { params: { path: { id, tag_name: tag } } }))
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== exitCodes.notFound) throw error
    if (ref === undefined)
      throw new Failure(`${error.message}; --ref makes a release where there is none`, exitCodes.notFound)
    await dataOf(
      api.POST('/projects/{id}/releases', { params: { path: { id } }, body: { tag_name: tag, ref } }),
    )
    say(`✓ release ${oneLine(tag)} of ${oneLine(ref)}`)
  }
}

interface PackagePath {
  id: string
  package_name: string
  package_version: string
  file_name: string
}

/**
 * Publishes a file.
 *
 * @returns the address of the published file
 */
async function publish({ api, url }: Session, path: PackagePath, file: string): Promise<string> {
  const published = await dataOf(
    api.PUT('/projects/{id}/packages/generic/{package_name}/{package_version}/{file_name}', {
      params: { path, query: { select: 'package_file' } },
      body: undefined as never,
      headers: { 'Content-Type': 'application/octet-stream' },
      fetch: fetchInTurn(url, sayWaiting, (request) => sendFile(request, file)),
    }),
  )
  if (!('file' in published)) throw new Failure('the server does not say where the file is', exitCodes.failed)
  return published.file.url
}

/**
 * Sends a file while it is read. `fetch` keeps data that the network has not accepted yet in memory, which is
 * most of a large file.
 */
async function sendFile({ url, method, headers }: Request, file: string): Promise<Response> {
  await using handle = await open(file)
  const { size } = await handle.stat()
  const { request } = url.startsWith('https:') ? https : http
  const sending = request(url, {
    method,
    headers: { ...Object.fromEntries(headers), 'Content-Length': size },
  })
  const answer = once(sending, 'response') as Promise<[http.IncomingMessage]>
  // A server that refuses the file answers before it has all of it, and may then close the connection.
  const [[message]] = await Promise.all([
    answer,
    pipeline(handle.createReadStream({ end: Math.max(0, size - 1) }), sending).catch(() => answer),
  ])
  const fields = Object.entries(message.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  return new Response(await text(message), { status: message.statusCode, headers: fields })
}

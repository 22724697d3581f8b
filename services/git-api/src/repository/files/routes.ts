import type { Caller } from '@switchyard/domain/access'
import {
  created,
  endpoint,
  filledText,
  flag,
  integer,
  keysetParameters,
  keysetReply,
  noContent,
  ok,
  pageParameters,
  pageReply,
  pathCharsMax,
  proseCharsMax,
  type Route,
  route,
  text,
  windowOf,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { commitBytesMax, content, optional, optionalText } from '../../shapes/parameters.js'
import type { FileDependencies } from './files.js'
import * as files from './files.js'
import {
  baseName,
  blameShape,
  changedFileShape,
  fileShape,
  presentBlame,
  presentChangedFile,
  presentFile,
  presentFileHeaders,
  presentTreeEntry,
  treeEntryShape,
} from './present.js'
import { rawTypes, sendRaw } from './raw-routes.js'

export function fileRoutes(deps: FileDependencies): Route[] {
  const { readCode, pushCode } = deps.guards
  const file = '/projects/:id/repository/files/:file_path'
  const blob = '/projects/:id/repository/blobs/:sha'
  const writes = { bodyBytesMax: commitBytesMax, parseLargeBody: deps.commitBodies.parse, longLived: true }
  return [
    route('GET', file, readCode, getFile),
    route('GET', `${file}/raw`, readCode, getRawFile(deps), { longLived: true }),
    route('GET', `${file}/blame`, readCode, getBlame, { longLived: true }),
    route('POST', file, pushCode, writeFile(deps, 'create'), writes),
    route('PUT', file, pushCode, writeFile(deps, 'update'), writes),
    route('DELETE', file, pushCode, deleteFile(deps)),
    route('GET', blob, readCode, getBlob),
    route('GET', `${blob}/raw`, readCode, getRawBlob, { longLived: true }),
    route('GET', '/projects/:id/repository/tree', readCode, listTree),
  ]
}

const commitFields = z.object({
  file_path: text(pathCharsMax),
  branch: filledText(),
  commit_message: filledText(proseCharsMax),
  start_branch: optionalText(text()),
  author_name: optionalText(text()),
  author_email: optionalText(text()),
  last_commit_id: optionalText(text()),
})

const writeFields = commitFields.extend({
  content,
  encoding: z.enum(['text', 'base64']).default('text'),
  execute_filemode: optional(flag()),
})

const commandOf = (fields: z.output<typeof commitFields>) => ({
  branch: fields.branch,
  message: fields.commit_message,
  startBranch: fields.start_branch,
  authorName: fields.author_name,
  authorEmail: fields.author_email,
})

/** `POST` and `PUT /projects/:id/repository/files/:file_path` */
const writeFile = (deps: FileDependencies, action: 'create' | 'update') =>
  endpoint({
    summary: action === 'create' ? 'Create a file' : 'Update a file',
    replies: { [action === 'create' ? 201 : 200]: changedFileShape },
    refusals: [409],
    input: writeFields,
    async handle(fields, access: ProjectCall<Caller>, call) {
      const change = { ...commandOf(fields), action: { ...fields, action } }
      const body = presentChangedFile(await files.writeFile(deps, access, change, call), fields.branch)
      return action === 'create' ? created(body) : ok(body)
    },
  })

const deleteFile = (deps: FileDependencies) =>
  endpoint({
    summary: 'Delete a file',
    replies: { 204: null },
    refusals: [409],
    input: commitFields,
    async handle(fields, access: ProjectCall<Caller>, call) {
      const action = { ...fields, action: 'delete' as const, encoding: 'text' as const }
      await files.deleteFile(deps, access, { ...commandOf(fields), action }, call)
      return noContent()
    },
  })

/**
 * `GET` and `HEAD /projects/:id/repository/files/:file_path`; HEAD answers only with the properties as
 * headers.
 */
const getFile = endpoint({
  summary: 'Get a file and its content',
  replies: { 200: fileShape },
  headers: { 'X-Gitlab-File-Name': 'Each field except the content has a header of this kind' },
  refusals: [413, 429],
  input: z.object({ file_path: text(pathCharsMax), ref: filledText() }),
  async handle({ file_path, ref }, access: ProjectCall, call) {
    const query = { path: file_path, revision: ref }
    if (call.raw.request.method === 'HEAD') {
      const file = await files.describeFile(access, query)
      return ok({}, presentFileHeaders(file))
    }
    const { file, content } = await files.readFile(access, query)
    return ok(presentFile(file, content), presentFileHeaders(file))
  },
})

const getRawFile = (deps: FileDependencies) =>
  endpoint({
    summary: 'Get the raw content of a file',
    replies: { 200: rawTypes, 206: rawTypes, 416: null },
    refusals: [429],
    input: z.object({
      file_path: text(pathCharsMax),
      ref: optionalText(text()),
      lfs: flag().default(false).meta({ description: 'The object of Git LFS that the file stands for' }),
    }),
    async handle({ file_path, ref, lfs }, access: ProjectCall, call) {
      const query = { path: file_path, revision: ref ?? 'HEAD', lfs }
      const { file, content } = await files.openRawFile(deps, access, query, call)
      const headers = presentFileHeaders(file)
      return sendRaw(content, { fileName: baseName(file.path), headers }, call)
    },
  })

const getBlameInput = z.object({
  file_path: text(pathCharsMax),
  ref: filledText(),
  range: optional(z.object({ start: integer(1), end: integer(1) })).meta({
    description: 'First and last line: `range[start]=1&range[end]=20`',
  }),
})

/**
 * `GET` and `HEAD /projects/:id/repository/files/:file_path/blame`; HEAD answers only with the properties of
 * the file.
 */
const getBlame = endpoint({
  summary: 'Get the blame of a file: its lines with the commits that wrote them',
  replies: { 200: z.array(blameShape) },
  refusals: [413, 429],
  input: getBlameInput,
  async handle({ file_path, ref, range }, access: ProjectCall, call) {
    const query = { path: file_path, revision: ref }
    if (call.raw.request.method === 'HEAD') {
      const file = await files.describeFile(access, query)
      return ok([], presentFileHeaders(file))
    }
    const { file, groups } = await files.readBlame(access, query, range)
    return ok(groups.map(presentBlame), presentFileHeaders(file))
  },
})

const blobShape = z
  .object({
    size: z.int().meta({ description: 'Bytes' }),
    encoding: z.literal('base64'),
    content: z.string().meta({ description: 'Base64' }),
    sha: z.string(),
  })
  .meta({ id: 'Blob', description: 'The content of a file, found by its id' })

const blobInput = z.object({ sha: text().meta({ description: 'The full id of a blob' }) })

const getBlob = endpoint({
  summary: 'Get a blob and its content',
  replies: { 200: blobShape },
  refusals: [413],
  input: blobInput,
  async handle({ sha }, access: ProjectCall) {
    const { blob, content } = await files.readBlobById(access, sha)
    return ok({ size: blob.size, encoding: 'base64', content: content.toString('base64'), sha: blob.id })
  },
})

const getRawBlob = endpoint({
  summary: 'Get the raw content of a blob',
  replies: { 200: rawTypes, 206: rawTypes, 416: null },
  refusals: [429],
  input: blobInput,
  async handle({ sha }, access: ProjectCall, call) {
    const content = await files.openRawBlob(access, sha)
    return sendRaw(content, { fileName: content.blob.id }, call)
  },
})

const listTreeInput = z.object({
  ...pageParameters,
  ref: optionalText(text()),
  path: text(pathCharsMax).default(''),
  recursive: flag().default(false),
  ...keysetParameters,
  pagination: z.enum(['legacy', 'keyset', 'none']).default('legacy').meta({
    description:
      '`keyset`: the page begins after the entry that `page_token` names; `none`: every entry in one answer',
  }),
})

const listTree = endpoint({
  summary: 'List files and folders',
  replies: { 200: z.array(treeEntryShape) },
  refusals: [413],
  input: listTreeInput,
  async handle({ ref, path, recursive, pagination, page_token, ...page }, access: ProjectCall, call) {
    const window = pagination === 'none' ? undefined : windowOf(pagination, page_token, page)
    const query = { revision: ref, path, isRecursive: recursive, window }
    const { entries, total, next } = await files.listTree(access, query)
    const items = entries.map(presentTreeEntry)
    if (pagination === 'keyset') return keysetReply(items, next, call)
    return window ? pageReply(items, page, total, call) : ok(items)
  },
})

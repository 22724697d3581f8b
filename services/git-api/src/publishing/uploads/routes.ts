import type { Database, Upload } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  type answered,
  type Call,
  created,
  endpoint,
  noContent,
  pageParameters,
  pageReply,
  parameterProblem,
  prefersHtml,
  type Route,
  redirect,
  route,
  rowId,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type ProjectCall, projectPathOf } from '../../guards.js'
import { pageOptions, projectPage, webGuard } from '../../web/web.js'
import { fileHeaders, fileTypes, sendFile } from '../stored-files/stored-files.js'
import { markdownOf, pictureTypeOf } from './file-names.js'
import type { StoredUpload } from './store.js'
import type { UploadDependencies } from './uploads.js'
import * as uploads from './uploads.js'

/**
 * Files of comments and releases. Everybody who sees the project and knows the address of a file may read it.
 */
export function uploadRoutes(deps: UploadDependencies): Route[] {
  const { readProject, comment, maintain } = deps.guards
  const path = '/projects/:id/uploads'
  const one = `${path}/:upload_id`
  const address = `${path}/:secret/:filename`
  const streams = { longLived: true }
  const onPage = { ...pageOptions, ...streams }
  const ofPath = webGuard(deps.guards, 'read_project')
  const ofId = webGuard(deps.guards, 'read_project', ({ id = '' }) => id)
  return [
    route('POST', path, comment, storeUpload(deps), { ...streams, streamsBody: true }),
    route('GET', path, maintain, listUploads(deps.database)),
    route('GET', one, maintain, downloadUpload(deps, byId), streams),
    route('DELETE', one, maintain, deleteUpload(deps, byId)),
    route('GET', address, readProject, downloadUpload(deps, byAddress), streams),
    route('DELETE', address, maintain, deleteUpload(deps, byAddress)),
    route('GET', `${projectPage}/uploads/:secret/:filename`, ofPath, visitUpload(deps), onPage),
    route('GET', '/-/project/:id/uploads/:secret/:filename', ofId, visitUpload(deps), onPage),
  ]
}

const uploadShape = z
  .object({
    id: z.int(),
    alt: z.string(),
    url: z.string(),
    full_path: z.string(),
    markdown: z.string(),
  })
  .meta({ id: 'Upload', description: 'A file that was uploaded, and its address' })

function presentUpload({ id, projectId, secret, fileName }: Upload): z.output<typeof uploadShape> {
  const url = `/uploads/${secret}/${fileName}`
  const { alt, markdown } = markdownOf(fileName, url)
  return { id: Number(id), alt, url, full_path: `/-/project/${projectId}${url}`, markdown }
}

const listedUploadShape = z
  .object({
    id: z.int(),
    size: z.int(),
    filename: z.string(),
    created_at: z.date(),
    uploaded_by: z.object({ id: z.int(), name: z.string(), username: z.string() }).nullable(),
  })
  .meta({ id: 'ListedUpload', description: 'A file that was uploaded' })

const presentListedUpload = ({
  id,
  object,
  fileName,
  createdAt,
  uploader,
}: StoredUpload): z.output<typeof listedUploadShape> => ({
  id: Number(id),
  size: Number(object.size),
  filename: fileName,
  created_at: createdAt,
  uploaded_by: uploader,
})

const form = {
  type: 'object',
  properties: { file: { type: 'string', format: 'binary' } },
  required: ['file'],
}

/** `POST /projects/:id/uploads`: a multipart form with the field `file`. */
const storeUpload = (deps: UploadDependencies) =>
  endpoint({
    summary: 'Upload a file for comments or a release',
    replies: { 201: uploadShape },
    body: { 'multipart/form-data': form },
    refusals: [429],
    input: z.object({}),
    async handle(_input, access: ProjectCall<Caller>, call) {
      const { request } = call.raw
      if (!request.is('multipart/form-data')) throw parameterProblem('file', 'is missing')
      const length = request.get('Content-Length')
      const announcedBytes = length === undefined ? undefined : Number(length)
      return created(presentUpload(await uploads.storeUpload(deps, access, announcedBytes, call)))
    },
  })

const listUploads = (database: Database) =>
  endpoint({
    summary: 'List the uploads of a project, newest first',
    replies: { 200: z.array(listedUploadShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const found = await uploads.listUploads(database, access, rowsOf(page))
      return pageReply(found.uploads.map(presentListedUpload), page, found.total, call)
    },
  })

const byId = z.object({ upload_id: rowId() }).transform(({ upload_id: id }) => ({ id }))

const inAddress = { secret: text(), filename: text() }
const byAddress = z.object(inAddress).transform(({ secret, filename: fileName }) => ({ secret, fileName }))

async function sendUpload(
  deps: UploadDependencies,
  access: ProjectCall,
  key: Parameters<typeof uploads.getUpload>[2],
  call: Call,
): Promise<typeof answered> {
  const { oid, fileName } = await uploads.getUpload(deps.database, access, key)
  return sendFile(deps, access, { oid, fileName, pictureType: pictureTypeOf(fileName) }, call)
}

const downloadUpload = (deps: UploadDependencies, input: typeof byId | typeof byAddress) =>
  endpoint({
    summary: 'Download an uploaded file, or the part of it that `Range` names',
    replies: {
      200: [...fileTypes, ...pictures],
      206: [...fileTypes, ...pictures],
      416: null,
    },
    headers: fileHeaders,
    input,
    handle: (key, access: ProjectCall, call) => sendUpload(deps, access, key, call),
  })

const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

const deleteUpload = (deps: UploadDependencies, input: typeof byId | typeof byAddress) =>
  endpoint({
    summary: 'Delete an uploaded file',
    replies: { 204: null },
    input,
    async handle(key, access: ProjectCall) {
      await uploads.removeUpload(deps, access, key)
      return noContent()
    },
  })

/**
 * The addresses of an upload in texts. A browser without a token is redirected to the API, where its session
 * is valid. The redirect is the same for every caller and project, so nobody learns from it whether the file
 * exists.
 */
const visitUpload = (deps: UploadDependencies) =>
  endpoint({
    input: z.object(inAddress),
    async handle({ secret, filename: fileName }, access: ProjectCall | null, call) {
      if (access) return sendUpload(deps, access, { secret, fileName }, call)
      const { raw, params } = call
      if (!prefersHtml(raw.request)) throw notFound('Project')
      const project = params.id ?? projectPathOf(params)
      const parts = ['projects', project, 'uploads', secret, fileName].map(encodeURIComponent)
      return redirect(`/api/v4/${parts.join('/')}`, { Vary: 'Accept' })
    },
  })

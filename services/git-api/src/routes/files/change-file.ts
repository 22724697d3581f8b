import { createHash } from 'node:crypto'
import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, filledText, flag, noContent, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { changedFileShape } from '../../presenters/file.js'
import { changeFile } from '../../use-cases/files.js'
import { content } from '../../wire/file-content.js'
import { optional, optionalText } from '../../wire/parameters.js'

const commitFields = {
  file_path: text(),
  branch: filledText(),
  commit_message: filledText(),
  start_branch: optionalText(text()),
  author_name: optionalText(text()),
  author_email: optionalText(text()),
  last_commit_id: optionalText(text()),
}

const contentFields = {
  content,
  encoding: z.enum(['text', 'base64']).default('text'),
  execute_filemode: optional(flag()),
}

type Fields = z.output<z.ZodObject<typeof commitFields>>

const commandOf = (fields: Fields) => ({
  branch: fields.branch,
  message: fields.commit_message,
  startBranch: fields.start_branch,
  authorName: fields.author_name,
  authorEmail: fields.author_email,
})

/** `POST` and `PUT /projects/:id/repository/files/:file_path` */
export const writeFile = (deps: Dependencies, action: 'create' | 'update') =>
  endpoint({
    summary: action === 'create' ? 'Create a file' : 'Update a file',
    replies: { [action === 'create' ? 201 : 200]: changedFileShape },
    refusals: [409],
    input: z.object({ ...commitFields, ...contentFields }),
    async handle(fields, access: ProjectCall<Caller>, call) {
      const { file_path, content, encoding, execute_filemode, last_commit_id } = fields
      const change = { action, file_path, content, encoding, execute_filemode, last_commit_id }
      const commitId = await changeFile(deps, access, { ...commandOf(fields), action: change }, call)
      const bytes =
        typeof content === 'string'
          ? Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8')
          : content
      const body = {
        file_path,
        branch: fields.branch,
        commit_id: commitId,
        last_commit_id: commitId,
        content_sha256: createHash('sha256').update(bytes).digest('hex'),
      }
      return action === 'create' ? created(body) : ok(body)
    },
  })

/** `DELETE /projects/:id/repository/files/:file_path` */
export const deleteFile = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a file',
    replies: { 204: null },
    refusals: [409],
    input: z.object(commitFields),
    async handle(fields, access: ProjectCall<Caller>, call) {
      const { file_path, last_commit_id } = fields
      const action = { action: 'delete' as const, encoding: 'text' as const, file_path, last_commit_id }
      await changeFile(deps, access, { ...commandOf(fields), action }, call)
      return noContent()
    },
  })

import type { Caller } from '@switchyard/domain/access'
import {
  created,
  endpoint,
  filledText,
  flag,
  noContent,
  ok,
  pathCharsMax,
  proseCharsMax,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { changedFileShape, presentChangedFile } from '../../presenters/file.js'
import * as files from '../../use-cases/files.js'
import { content } from '../../wire/file-content.js'
import { optional, optionalText } from '../../wire/parameters.js'

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
export const writeFile = (deps: Dependencies, action: 'create' | 'update') =>
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

/** `DELETE /projects/:id/repository/files/:file_path` */
export const deleteFile = (deps: Dependencies) =>
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

import type { Readable } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, filledText, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { noteShape, presentNote } from '../presenters/note.js'
import { writeNote } from '../use-cases/write-note.js'
import { tenantParameter } from '../wire/search-parameters.js'

const noteCharsMax = 10_000

/** What an operator writes about a saga. */
export const noteText = () => filledText(noteCharsMax)

/** `POST /sagas/:id/notes` */
export const createNote = (database: Readable) =>
  endpoint({
    summary: 'Write a note about a saga',
    replies: { 201: noteShape },
    input: z.object({ id: text(), ...tenantParameter, body: noteText() }),
    handle: async ({ id, tenant, body }, caller: Caller, call) => {
      const note = { authorId: caller.user.id, authorName: caller.user.username, body }
      const audit = auditAuthor(caller, call)
      return created(presentNote(await writeNote(database, { tenant, sagaId: id }, note, audit)))
    },
  })

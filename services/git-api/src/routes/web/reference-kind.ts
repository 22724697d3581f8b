import type { ReferenceKind } from '@switchyard/git-storage'
import { z } from 'zod'
import { optional } from '../../wire/parameters.js'

/** GitLab's parameter that says whether a name is that of a branch or of a tag. */
export const refType = () => optional(z.enum(['heads', 'tags']))

const kinds = { heads: 'branch', tags: 'tag' } as const satisfies Record<string, ReferenceKind>

export const kindOf = (type: keyof typeof kinds | undefined) => type && kinds[type]

import type { Project } from '@switchyard/db'
import { z } from 'zod'
import type { TagView } from '../repository-views.js'
import { commitShape, presentCommit } from './commit.js'

export const tagShape = z
  .object({
    name: z.string(),
    message: z.string().meta({ description: 'Empty for a lightweight tag' }),
    target: z.string().meta({ description: 'Id of the object of an annotated tag, else of the commit' }),
    commit: commitShape.nullable(),
    release: z.object({ tag_name: z.string(), description: z.string().nullable() }).nullable(),
    protected: z.boolean(),
    created_at: z.date().nullable().meta({ description: 'Null for a lightweight tag' }),
  })
  .meta({ id: 'Tag', description: 'A tag and its commit' })

/** A tag in GitLab's shape. */
export const presentTag = (tag: TagView, project: Project, baseUrl: string): z.output<typeof tagShape> => ({
  name: tag.name,
  message: tag.message,
  target: tag.target,
  commit: tag.commit && presentCommit(tag.commit, project, baseUrl),
  release: tag.release && { tag_name: tag.name, description: tag.release.description },
  protected: tag.isProtected,
  created_at: tag.taggedAt,
})

import { flag, pathCharsMax, text } from '@switchyard/service-kit/http'
import { optionalText } from './parameters.js'

/** The parameters of endpoints that answer with the files of a diff. */
export const diffParameters = {
  unidiff: flag().default(false),
  path: optionalText(text(pathCharsMax)).meta({
    description: 'Old or new path of the only file to show; its patch may be longer than in a list',
  }),
  stat: flag()
    .default(false)
    .meta({ description: 'Give the numbers of changed lines instead of patches; has no effect with `path`' }),
}

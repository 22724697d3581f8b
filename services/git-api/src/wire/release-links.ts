import type { LinkFields } from '@switchyard/db'
import { releaseLinkTypes } from '@switchyard/domain/release'
import { filledText, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { optional, optionalText } from './parameters.js'

/** Parameters of a link of a release. `filepath` is the older name of `direct_asset_path`. */
export const releaseLinkParameters = {
  name: filledText(),
  url: filledText(),
  direct_asset_path: optionalText(text()),
  filepath: optionalText(text()),
  link_type: optional(z.enum(releaseLinkTypes)),
}

type GivenLink = z.output<z.ZodObject<typeof releaseLinkParameters>>

export const toLinkFields = ({
  name,
  url,
  direct_asset_path,
  filepath,
  link_type,
}: GivenLink): LinkFields => ({
  name,
  url,
  filePath: direct_asset_path ?? filepath ?? null,
  linkType: link_type ?? 'other',
})

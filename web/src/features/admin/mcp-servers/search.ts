import { type Raw, text } from '~/api/search'

/** What a sign-in page of somebody else sends people back with. */
export interface CallbackSearch {
  state?: string
  code?: string
  iss?: string
  error?: string
  error_description?: string
}

export const callbackSearch = (raw: Raw): CallbackSearch => ({
  state: text(raw, 'state'),
  code: text(raw, 'code'),
  iss: text(raw, 'iss'),
  error: text(raw, 'error'),
  error_description: text(raw, 'error_description'),
})

import { type Raw, text } from '~/api/search'

/** `token` is that of a one-time link, `next` where to go afterwards. */
export interface SignInSearch {
  token?: string
  next?: string
}

export const signInSearch = (raw: Raw): SignInSearch => ({
  token: text(raw, 'token'),
  next: text(raw, 'next'),
})

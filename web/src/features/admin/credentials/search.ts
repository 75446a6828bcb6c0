import { type Raw, text } from '~/api/search'

/** What the list of credentials shows. */
export interface CredentialsSearch {
  q?: string
}

export const credentialsSearch = (raw: Raw): CredentialsSearch => ({ q: text(raw, 'q') })

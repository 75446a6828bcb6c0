import { type Bump, isLower, isTooLow, isVersion, proposeVersion } from '../versions/semver'

interface Facts {
  /** The number of what runs; none before the first publication. */
  live: string | undefined
  /** The number that the draft has. */
  draft: string
  bump: Bump
  breaking: boolean
  /** What somebody typed instead of the proposed number. */
  typed: string | undefined
}

export interface NumberChoice {
  version: string
  proposed: string
  fault?: 'not_a_version' | 'too_small'
  /** Whether the number says less than the changes ask for: then it has to be confirmed by hand. */
  isTooLow: boolean
  /** Whether callers of what runs could break without the number telling them. */
  hidesBreak: boolean
}

/** Which number a publication gets, and what that means to those who call what runs. */
export function chooseNumber({ live, draft, bump, breaking, typed }: Facts): NumberChoice {
  const proposed = proposeVersion(live, draft, bump)
  const version = typed ?? proposed
  const fault = !isVersion(version)
    ? 'not_a_version'
    : version !== draft && isLower(version, draft)
      ? 'too_small'
      : undefined
  const low = live !== undefined && fault === undefined && isTooLow(version, live, bump)
  return { version, proposed, fault, isTooLow: low, hidesBreak: low && breaking }
}

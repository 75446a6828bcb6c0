const UNSEEN = /[\p{Cf}\p{Cc}\u2028\u2029]/gu
const HARMLESS = new Set(['\n', '\t', '\r'])

/**
 * A text with what cannot be seen spelled out. Somebody who decides must read what will be sent, and a character
 * that turns the rest around or takes no room would show them something else.
 */
export function plain(text: string): string {
  return text.replace(UNSEEN, (character) =>
    HARMLESS.has(character)
      ? character
      : `\\u{${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}}`,
  )
}

/** What the server's content security policy lets our own style elements in by. */
export const nonce =
  document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''

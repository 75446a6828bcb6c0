import { plain } from './plain'

test('what cannot be seen is spelled out, and nothing else', () => {
  expect(plain('pay \u202Eevil\u200B')).toBe('pay \\u{202E}evil\\u{200B}')
  expect(plain('Grüße,\n\t東京 🙂')).toBe('Grüße,\n\t東京 🙂')
  expect(plain('\u0007\u2066a\u2069')).toBe('\\u{0007}\\u{2066}a\\u{2069}')
})

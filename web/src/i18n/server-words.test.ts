import i18next from 'i18next'

import { loadTexts } from '.'
import { plainly, serverWords } from './server-words'

const key = (key: string, values: Record<string, string>) =>
  [
    key,
    ...Object.entries(values).flatMap(([name, value]) => (name === 'defaultValue' ? [] : value)),
  ]
    .join(' ')
    .trim()

test.each([
  ['the run was cancelled', 'run_cancelled'],
  ['there is no such thing: the path holds no id', 'missing'],
  ['there is no such run', 'missing'],
  ['Tool timed out after 250ms', 'timed_out 250'],
  ['the URL cannot be used: it is not an absolute URL', 'url url_not_absolute'],
  [
    '`x.test:443` cannot be reached: its certificate is not trusted',
    'unreachable x.test:443 untrusted',
  ],
  [
    '`x.test` leads to a private address; an operator can open it with `egress.allow`',
    'denied x.test',
  ],
  [
    '`x.test` leads to a cloud metadata address, which stays shut whatever `egress.allow` says',
    'denied_always x.test',
  ],
  ['step `ask` (city.ask): nobody answered in time', 'step ask city.ask nobody_answered'],
  ['step `ask` (city.ask): we are closed', 'step ask city.ask we are closed'],
  ['the words of a tool', 'the words of a tool'],
])('%s', (message, expected) => {
  expect(plainly(key, message)).toBe(expected)
})

test('a page in German says what the server says in English', async () => {
  await i18next.changeLanguage('de')
  await loadTexts(['server'])
  expect(serverWords('the run was cancelled')).toBe('Der Lauf wurde abgebrochen.')
  expect(serverWords('something new')).toBe('something new')
  await i18next.changeLanguage('en')
})

// A sign-in link is used up by this post and never by opening the page: programs that look at links
// before people do would otherwise use them up.
'use strict'

const state = document.getElementById('state')
const go = document.getElementById('go')
const token = new URLSearchParams(location.search).get('token')

const signIn = async () => {
  go.disabled = true
  const answer = await fetch('/api/auth/link', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  const body = await answer.json()
  // The token is worth nothing any more; it need not stay in the history either.
  history.replaceState(null, '', '/sign-in')
  go.hidden = true
  state.textContent = answer.ok ? `Signed in to ${body.tenant} as ${body.display_name}.` : `${body.title}: ${body.detail}.`
  document.getElementById('next').hidden = !answer.ok
}

if (token) {
  state.textContent = 'This link signs you in once.'
  go.hidden = false
  go.focus()
  go.addEventListener('click', () => signIn().catch((error) => { state.textContent = `The server cannot be reached: ${error}` }))
} else {
  state.textContent = 'This address has no sign-in token. Ask an operator for a link: toolwright users link EMAIL'
}

'use client'
import { tryAgain } from './_ui/network'
import { useRecovery } from './_ui/use-recovery'

/** Shown when even the root layout fails, so it relies on no component or style sheet. */
export default function GlobalError({ error, retry }: { error: Error & { digest?: string }; retry: () => void }) {
  const waiting = useRecovery(error, retry)
  return (
    <html lang="en" style={{ colorScheme: 'light dark' }}>
      <body style={{ margin: 0, font: '16px/1.5 system-ui, sans-serif' }}>
        <title>Millrace</title>
        <main style={{ maxWidth: '30rem', margin: '0 auto', padding: '20vh 1rem' }} role={waiting ? 'status' : 'alert'}>
          <h1 style={{ fontSize: '1.25rem' }}>
            {waiting ? 'No network connection' : 'Millrace could not show this page'}
          </h1>
          <p>
            {waiting
              ? 'This page appears when the connection is back.'
              : 'Something went wrong on our side. Everything you saved is safe.'}
            {error.digest && (
              <>
                {' '}
                To find it in the log, search for <code>{error.digest}</code>.
              </>
            )}
          </p>
          <button
            type="button"
            onClick={waiting ? tryAgain : retry}
            style={{ padding: '0.5rem 1rem', font: 'inherit' }}
          >
            Try again
          </button>
        </main>
      </body>
    </html>
  )
}

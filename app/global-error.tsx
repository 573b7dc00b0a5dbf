'use client'

/** Shown when even the root layout fails, so it relies on no component or style sheet. */
export default function GlobalError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <html lang="en" style={{ colorScheme: 'light dark' }}>
      <body style={{ margin: 0, font: '16px/1.5 system-ui, sans-serif' }}>
        <title>Millrace</title>
        <main style={{ maxWidth: '30rem', margin: '0 auto', padding: '20vh 1rem' }} role="alert">
          <h1 style={{ fontSize: '1.25rem' }}>Millrace could not show this page</h1>
          <p>
            Something went wrong on our side. Everything you saved is safe.
            {error.digest && (
              <>
                {' '}
                To find it in the log, search for <code>{error.digest}</code>.
              </>
            )}
          </p>
          <button type="button" onClick={reset} style={{ padding: '0.5rem 1rem', font: 'inherit' }}>
            Try again
          </button>
        </main>
      </body>
    </html>
  )
}

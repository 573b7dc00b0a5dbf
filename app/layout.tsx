import { ColorSchemeScript, mantineHtmlProps } from '@mantine/core'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './globals.css'
import { GeistMono } from 'geist/font/mono'
import { GeistSans } from 'geist/font/sans'
import type { Metadata, Viewport } from 'next'
import { headers } from 'next/headers'
import type { ReactNode } from 'react'
import { env } from '@/server/env'
import { ThemeProvider } from './theme-provider'

const description = 'Durable workflows with people in them, agents with structured answers, and tools, over HTTP.'

export function generateMetadata(): Metadata {
  const { PUBLIC_URL, port } = env()
  return {
    // Links to preview images must be absolute.
    metadataBase: new URL(PUBLIC_URL ?? `http://localhost:${port}`),
    title: { default: 'Millrace', template: '%s · Millrace' },
    description,
    icons: { icon: '/icon.svg' },
    openGraph: { siteName: 'Millrace', title: 'Millrace', description, images: '/social.png' },
    twitter: { card: 'summary_large_image' },
  }
}

export const viewport: Viewport = { width: 'device-width', initialScale: 1, colorScheme: 'light dark' }

export default async function RootLayout({ children }: { children: ReactNode }) {
  // proxy.ts sets it for this request. Without it, the browser runs no script.
  const nonce = (await headers()).get('x-nonce') ?? ''
  return (
    <html lang="en" {...mantineHtmlProps} className={`${GeistSans.variable} ${GeistMono.variable}`}>
      <head>
        <ColorSchemeScript nonce={nonce} defaultColorScheme="auto" />
      </head>
      <body>
        <ThemeProvider>{children}</ThemeProvider>
      </body>
    </html>
  )
}

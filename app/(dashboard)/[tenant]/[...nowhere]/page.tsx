import { notFound } from 'next/navigation'

/**
 * Catches unknown addresses of the workspace, so that "Page not found" appears inside the dashboard's frame. No
 * `loading.tsx` may be above it: what it shows would be sent with 200 before this is known.
 */
export default function Nowhere() {
  notFound()
}

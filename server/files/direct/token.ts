import type { TokenKind } from '../../signed-token'

/** Opens one file of one tenant for its bytes. */
export const UPLOAD_TOKEN: TokenKind<never> = { type: 'upload+jwt', keysFor: 'millrace uploads', names: [] }

export const UPLOAD_TOKEN_HEADER = 'x-upload-token'

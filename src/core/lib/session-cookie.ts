/** The name of the cookie that carries a session; the API reference names it too. */
export const sessionCookie = 'fernpost_session';

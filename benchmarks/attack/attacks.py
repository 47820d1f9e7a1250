"""The requests by which a proxy and the server behind it could be set at odds, as bytes."""

B = b'{"model":"m","messages":[]}'


def req(extra, body=b'', line=b'POST /v1/chat/completions HTTP/1.1', host=b'Host: localhost\r\n', ct=b'Content-Type: application/json\r\n'):
    return line + b'\r\n' + host + ct + extra + b'\r\n' + body


SM = b'GET /v1/models?SMUGGLED=1 HTTP/1.1\r\nHost: localhost\r\n\r\n'
ch=lambda b:b'%x\r\n%s\r\n0\r\n\r\n'%(len(b),b)
C = {}
C['cl.te']=req(b'Content-Length: %d\r\nTransfer-Encoding: chunked\r\n'%(len(b'0\r\n\r\n'+SM)),b'0\r\n\r\n'+SM)
C['te.cl']=req(b'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n',ch(B+SM))
for nm,te in {'te-space-colon':b'Transfer-Encoding : chunked','te-tab':b'Transfer-Encoding:\tchunked','te-vt':b'Transfer-Encoding:\x0bchunked','te-xchunked':b'Transfer-Encoding: xchunked','te-chunked-x':b'Transfer-Encoding: chunked, x','te-x-chunked':b'Transfer-Encoding: x, chunked','te-identity':b'Transfer-Encoding: identity','te-twice':b'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity','te-twice2':b'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked','te-fold':b'Transfer-Encoding:\r\n chunked','te-quote':b'Transfer-Encoding: "chunked"','te-lf':b'X: y\nTransfer-Encoding: chunked','te-nul':b'Transfer-Encoding: chunked\x00','te-case':b'tRANSFER-eNCODING: cHUNKED','te-underscore':b'Transfer_Encoding: chunked','te-cr':b'Foo: bar\rTransfer-Encoding: chunked','te-lead-sp':b' Transfer-Encoding: chunked','te-trail-sp':b'Transfer-Encoding: chunked ','te-semi':b'Transfer-Encoding: chunked;q=1','te-empty':b'Transfer-Encoding: ','te-0ff':b'Transfer-Encoding: chunked\xff','te-nbsp':b'Transfer-Encoding:\xa0chunked'}.items():
    body=b'0\r\n\r\n'+SM
    C[nm]=req(te+b'\r\nContent-Length: %d\r\n'%len(body),body)
    C[nm+'-nocl']=req(te+b'\r\n',body)
C['dup-cl-diff']=req(b'Content-Length: 0\r\nContent-Length: %d\r\n'%len(SM),SM)
C['dup-cl-same']=req(b'Content-Length: %d\r\nContent-Length: %d\r\n'%(len(B),len(B)),B)
C['cl-list']=req(b'Content-Length: 0, %d\r\n'%len(SM),SM)
C['cl-list-same']=req(b'Content-Length: %d, %d\r\n'%(len(B),len(B)),B)
for nm,v in {'cl-plus':b'+27','cl-neg':b'-1','cl-hex':b'0x1b','cl-space':b'2 7','cl-huge':b'99999999999999999999','cl-lead0':b'0027','cl-lead0s':b'0'*30+b'27','cl-under':b'2_7','cl-dec':b'27.0','cl-empty':b'','cl-tab':b'\t27'}.items():
    C[nm]=req(b'Content-Length: '+v+b'\r\n',B)
C['cl-space-colon']=req(b'Content-Length : 27\r\n',B+SM)
C['cl-fold']=req(b'Content-Length:\r\n 27\r\n',B)
C['obs-fold']=req(b'X-A: b\r\n c\r\nContent-Length: 27\r\n',B)
C['bare-lf']=b'POST /v1/chat/completions HTTP/1.1\nHost: localhost\nContent-Length: 27\n\n'+B
C['bare-cr']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX: a\rGET /v1/models?SMUGGLED=1 HTTP/1.1\r\n\r\n'
for nm,b in {'chunk-ext':b'1b;a=b\r\n'+B+b'\r\n0;x\r\n\r\n','chunk-ext-lf':b'1b;a\nx\r\n'+B+b'\r\n0\r\n\r\n','chunk-barelf':b'1b\n'+B+b'\n0\n\n','chunk-size-sp':b'1b \r\n'+B+b'\r\n0\r\n\r\n','chunk-size-lead-sp':b' 1b\r\n'+B+b'\r\n0\r\n\r\n','chunk-0x':b'0x1b\r\n'+B+b'\r\n0\r\n\r\n','chunk-plus':b'+1b\r\n'+B+b'\r\n0\r\n\r\n','chunk-huge':b'FFFFFFFFFFFFFFFFFF\r\n'+B+b'\r\n0\r\n\r\n','chunk-16f':b'FFFFFFFFFFFFFFFF\r\n'+B+b'\r\n0\r\n\r\n','chunk-7f':b'7FFFFFFFFFFFFFFF\r\n'+B+b'\r\n0\r\n\r\n','chunk-neg':b'-1\r\n'+B+b'\r\n0\r\n\r\n','chunk-too-long':b'5\r\n'+B+b'\r\n0\r\n\r\n','chunk-no-crlf':b'1b\r\n'+B+b'XX0\r\n\r\n','chunk-0000':b'1b\r\n'+B+b'\r\n0000000000\r\n\r\n','chunk-trailer':b'1b\r\n'+B+b'\r\n0\r\nContent-Length: 99\r\nX-T: v\r\n\r\n','chunk-trailer-bad':b'1b\r\n'+B+b'\r\n0\r\nbad trailer\r\n\r\n','chunk-ext-long':b'1b;'+b'a'*20000+b'\r\n'+B+b'\r\n0\r\n\r\n','chunk-many-ext':b''.join(b'1;'+b'e'*200+b'\r\n'+bytes([x])+b'\r\n' for x in B)+b'0\r\n\r\n','chunk-ext-cr':b'1b;a\rb\r\n'+B+b'\r\n0\r\n\r\n','chunk-trailer-huge':b'1b\r\n'+B+b'\r\n0\r\nX: '+b'a'*300000+b'\r\n\r\n','chunk-semi-only':b'1b;\r\n'+B+b'\r\n0\r\n\r\n','chunk-tab':b'1b\t\r\n'+B+b'\r\n0\r\n\r\n','chunk-empty-size':b'\r\n'+B+b'\r\n0\r\n\r\n','chunk-many0':b'0'*4000+b'1b\r\n'+B+b'\r\n0\r\n\r\n'}.items():
    C[nm]=req(b'Transfer-Encoding: chunked\r\n',b)
C['http10-te']=req(b'Transfer-Encoding: chunked\r\n',ch(B),line=b'POST /v1/chat/completions HTTP/1.0')
C['http10-te-cl']=req(b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',b'0\r\n\r\n'+SM,line=b'POST /v1/chat/completions HTTP/1.0')
C['http09']=b'GET /v1/models\r\n\r\n'
C['http11-nohost']=b'GET /v1/models HTTP/1.1\r\n\r\n'
C['two-host']=b'GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'
C['bad-host']=b'GET /v1/models HTTP/1.1\r\nHost: a b\r\n\r\n'
C['host-inj']=b'GET /v1/models HTTP/1.1\r\nHost: a/../x?y#z\r\n\r\n'
C['host-at']=b'GET /v1/models HTTP/1.1\r\nHost: u:p@evil:1\r\n\r\n'
C['abs']=b'GET http://127.0.0.1:9/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['abs-other']=b'GET http://evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['abs-file']=b'GET file:///etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['dslash']=b'GET //evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['at']=b'GET @evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['noslash']=b'GET v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['star']=b'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['connect']=b'CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n'
C['connect-slash']=b'CONNECT /v1/models HTTP/1.1\r\nHost: evil:443\r\n\r\n'
C['trace']=b'TRACE /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer canary\r\n\r\n'
C['pri']=b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
C['http12-body']=b'POST /v1/chat/completions HTTP/1.2\r\nHost: localhost\r\nContent-Length: 27\r\n\r\n'+B
C['http12']=b'GET /v1/models HTTP/1.2\r\nHost: localhost\r\n\r\n'
C['http20']=b'GET /v1/models HTTP/2.0\r\nHost: localhost\r\n\r\n'
C['method-sp']=b'GE T /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['method-lower']=b'get /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['method-long']=b'A'*5000+b' /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['two-sp']=b'GET  /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['path-sp']=b'GET /v1/models?a b HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['path-tab']=b'GET /v1/models?a\tHTTP/1.1 HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['path-crlf-enc']=b'GET /v1/models/%0d%0aX:%20y HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['path-nul']=b'GET /v1/models/\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['path-utf8']='GET /v1/models/\u0130\uff0f..\uff0fx HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode()
C['path-hash']=b'GET /v1/models#x HTTP/1.1\r\nHost: localhost\r\n\r\n'
for nm,p in {'tr1':b'/v1/models/../../admin','tr2':b'/v1/models/%2e%2e/%2e%2e/admin','tr3':b'/v1/models/%252e%252e/admin','tr4':b'/v1/models/..%2fadmin','tr5':b'/v1/models/..;/admin','tr6':b'/v1/models/..\\admin','tr7':b'/v1/models/%5c..%5cadmin','tr8':b'/v1/models//../admin','tr9':b'/v1/models/.%00./admin','tr10':b'/v1/models/%25252e%25252e/admin','tr11':b'/v1/models/%2e%2e%3b/admin','tr12':b'/v1/models/%c0%ae%c0%ae/admin','tr13':b'/v1/models/%u002e%u002e/admin','tr14':b'/v1/models/x%2f..%2f..%2fadmin','tr15':b'/v1/models/.%2e/admin','tr16':b'/v1/models/..%09/admin','tr17':b'/v1/models/..%0d/admin','tr18':b'/v1/models/...../admin','tr19':b'/v1/models?/../admin','tr20':b'/v1/models%2f..%2fadmin', 'tr21':b'/v1/models/..%20/admin','tr22':b'/v1/models/..%23/admin','tr23':b'/v1/models/..%3f/admin'}.items():
    C[nm]=b'GET '+p+b' HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['pipeline']=b''.join(b'GET /v1/models?p=%d HTTP/1.1\r\nHost: localhost\r\n\r\n'%i for i in range(5))
C['pipeline-post']=b''.join(req(b'Content-Length: 27\r\nX-P: %d\r\n'%i,B) for i in range(3))
C['get-body']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n'%len(SM)+SM
C['get-body-chunk']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'+ch(SM)
C['head']=b'HEAD /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'+b'GET /v1/models?after-head HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['head-post-path']=b'HEAD /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n'%len(SM)+SM
C['expect']=req(b'Content-Length: 27\r\nExpect: 100-continue\r\n',B)
C['expect-bad']=req(b'Content-Length: 27\r\nExpect: 200-ok\r\n',B)
C['expect-two']=req(b'Content-Length: 27\r\nExpect: 100-continue\r\nExpect: x\r\n',B)
C['conn-listed']=req(b'Content-Length: 27\r\nConnection: close, X-Secret, Content-Length, Host, Authorization, X-Forwarded-For, Via\r\nX-Secret: s\r\nAuthorization: Bearer canary\r\nX-Forwarded-For: 1.2.3.4\r\n',B)
C['hop']=req(b'Content-Length: 27\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: foo\r\nProxy-Authorization: Basic x\r\nProxy-Authenticate: x\r\nProxy-Foo: bar\r\n',B)
C['h2c-upgrade']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n'
C['ws']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
C['ws-body']=b'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: %d\r\n\r\n'%len(SM)+SM
C['ws-http10']=b'GET /v1/models HTTP/1.0\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
C['ws-two']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c, websocket\r\n\r\n'
C['ws-two2']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n'
C['hdr-name-bad']=req(b'X Y: z\r\nContent-Length: 27\r\n',B)
C['hdr-name-empty']=req(b': z\r\nContent-Length: 27\r\n',B)
C['hdr-nocolon']=req(b'foo\r\nContent-Length: 27\r\n',B)
C['hdr-ctl']=req(b'X-Y: a\x01b\r\nContent-Length: 27\r\n',B)
C['hdr-del']=req(b'X-Y: a\x7fb\r\nContent-Length: 27\r\n',B)
C['hdr-8bit']=req(b'X-Y: a\xe9b\r\nContent-Length: 27\r\n',B)
C['hdr-huge']=req(b'X-Y: '+b'a'*70000+b'\r\nContent-Length: 27\r\n',B)
C['hdr-many']=req(b''.join(b'X%d: y\r\n'%i for i in range(3000))+b'Content-Length: 27\r\n',B)
C['hdr-first-fold']=b'GET /v1/models HTTP/1.1\r\n X: y\r\nHost: localhost\r\n\r\n'
C['empty-lines']=b'\r\n\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
C['xff-spoof']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\nForwarded: for=6.6.6.6\r\nX-Real-Ip: 6.6.6.6\r\n\r\n'
C['via-loop']=b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nVia: 1.1 tokenmeter-00000000\r\n\r\n'
C['http10-keep-te-cl'] = b'POST /v1/chat/completions HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n' + b'%x\r\n' % len(SM) + SM + b'\r\n0\r\n\r\n'
for nm, line in {'delete-model': b'DELETE /v1/models/m', 'put-model': b'PUT /v1/models/m', 'post-models': b'POST /v1/models', 'post-files': b'POST /v1/files', 'post-jobs': b'POST /v1/fine_tuning/jobs'}.items():
    C[nm] = line + b' HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'
C['rebound-host'] = b'GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n'

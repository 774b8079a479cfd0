"""HAProxy configurations in the form that OpenShift's router writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MAPS = (
    *("os_http_be.map", "os_tcp_be.map", "os_sni_passthrough.map"),
    *("os_edge_reencrypt_be.map", "os_route_http_redirect.map"),
)
POD = "172.4.0.4:8765"


def prepare(conf: Path, certificate: str) -> None:
    """Write the files that a configuration names, so that HAProxy accepts it."""
    conf.mkdir(parents=True)
    for name in MAPS:
        (conf / name).write_text("")
    for code in (503, 404):
        page = (
            f"HTTP/1.0 {code} Error\r\nConnection: close\r\nContent-Type: text/html\r\n\r\nNo\r\n"
        )
        (conf / f"error-page-{code}.http").write_text(page)
    (conf / "default_pub_keys.pem").write_text(certificate)
    (conf / "cert_config.map").write_text(f"{conf}/default_pub_keys.pem [alpn h2]\n")


def server(pod: str, ip: str, more: str = "weight 256", *, cookie: bool = True) -> str:
    """The line of a pod of a service "web". Backends that pass TLS through have no cookies."""
    key = f"cookie c-{pod} " if cookie else ""
    return f"  server pod:{pod}:web:http:{ip}:8080 {ip}:8080 {key}{more}"


def http_backend(name: str, *lines: str, balance: str = "random") -> str:
    """A backend for a route without TLS, or with edge or re-encryption."""
    forwarded = r"Forwarded for=\"[%[src]]\";host=%[req.hdr(host)];proto=http if { src -m sub : }"
    head = f"""
# HTTP to the pods
backend {name}
  mode http
  option redispatch
  option forwardfor
  balance {balance}

  timeout check 5000ms
  http-request add-header X-Forwarded-Proto https if {{ ssl_fc }}
  http-request add-header {forwarded}
  cookie 1e2670d92730b515ce3a1bb65da45062 insert indirect nocache httponly
  http-response set-header Strict-Transport-Security 'max-age=31536000; preload # all'
"""
    return head + "\n".join(lines) + "\n"


def tcp_backend(name: str, *lines: str) -> str:
    """A backend for a route that passes TLS through."""
    head = f"# TLS to the pods\nbackend {name}\n  balance source\n\n"
    body = "\n".join(lines)
    return f"\n{head}  hash-type consistent\n  timeout check 5000ms\n{body}\n"


def reserve(count: int = 1) -> str:
    """What the router adds to a backend when it can change servers without a reload."""
    return (
        "  dynamic-cookie-key 1e2670d92730b515ce3a1bb65da45062\n"
        f"  server-template _dynamic-pod- 1-{count} {POD} check disabled"
    )


def config(
    conf: Path | str,
    backends: Sequence[str],
    *,
    ports: Sequence[int] = (80, 443, 10444, 10443, 1936),
    socket: str = "",
    client_timeout: str = "30s",
    maxconn: int = 20000,
) -> str:
    """A whole configuration. conf: the folder of its files."""
    http, https, sni, no_sni, stats = ports
    socket = socket or f"{conf}/haproxy.sock"
    return f"""
global
  hard-stop-after 1h
  maxconn {maxconn}
  nbthread 4
  log-send-hostname
  ca-base /etc/ssl
  crt-base /etc/ssl
  # server nobody 10.9.9.9:1 in a comment is no server
  stats socket {socket} mode 600 level admin expose-fd listeners
  stats timeout 2m
  tune.maxrewrite 8192
  tune.bufsize 32768
  ssl-default-bind-options ssl-min-ver TLSv1.2
  tune.ssl.default-dh-param 2048

defaults
  maxconn {maxconn}
  errorfile 503 {conf}/error-page-503.http
  errorfile 404 {conf}/error-page-404.http
  timeout connect 5s
  timeout client {client_timeout}
  timeout client-fin 1s
  timeout server 30s
  timeout server-fin 1s
  timeout http-request 10s
  timeout http-keep-alive 300s
  timeout tunnel 1h

listen stats
  bind 127.0.0.1:{stats}
  mode http
  monitor-uri /healthz
  stats enable
  stats hide-version
  stats realm Haproxy\\ Statistics
  stats uri /
  stats auth admin:swordfish

frontend public
  bind 127.0.0.1:{http}
  mode http
  tcp-request inspect-delay 5s
  tcp-request content accept if HTTP
  http-request del-header Proxy
  http-request set-header Host %[req.hdr(Host),lower]
  acl secure_redirect base,map_reg_int({conf}/os_route_http_redirect.map) -m bool
  redirect scheme https if secure_redirect
  use_backend %[base,map_reg({conf}/os_http_be.map)]
  default_backend openshift_default

frontend public_ssl
  bind 127.0.0.1:{https}
  tcp-request inspect-delay 5s
  tcp-request content accept if {{ req_ssl_hello_type 1 }}
  acl sni req.ssl_sni -m found
  acl sni_passthrough req.ssl_sni,lower,map_reg({conf}/os_sni_passthrough.map) -m found
  use_backend %[req.ssl_sni,lower,map_reg({conf}/os_tcp_be.map)] if sni sni_passthrough
  use_backend be_sni if sni
  default_backend be_no_sni

backend be_sni
  server fe_sni 127.0.0.1:{sni} weight 1 send-proxy

frontend fe_sni
  # TLS ends here
  bind 127.0.0.1:{sni} ssl crt {conf}/default_pub_keys.pem crt-list {conf}/cert_config.map accept-proxy
  mode http
  use_backend %[base,map_reg({conf}/os_edge_reencrypt_be.map)]
  default_backend openshift_default

backend be_no_sni
  server fe_no_sni 127.0.0.1:{no_sni} weight 1 send-proxy

frontend fe_no_sni
  bind 127.0.0.1:{no_sni} ssl crt {conf}/default_pub_keys.pem accept-proxy
  mode http
  use_backend %[base,map_reg({conf}/os_edge_reencrypt_be.map)]
  default_backend openshift_default

backend openshift_default
  mode http
  option forwardfor
  #balance leastconn
  option http-pretend-keepalive

## backends for routes
{"".join(backends)}"""


# Nothing that the router writes, but what HAProxy allows: quotes, other sections, named defaults.
ODD = r"""
global
  maxconn 100 # server x 10.9.9.9:1
  description "a # b \" 'c'" # and more
  setenv SECRET hunter2
defaults base
  mode tcp
  timeout connect 5s
  timeout client 10m
  timeout server "30s"
defaults web from base
  mode http
  balance leastconn
userlist people
  user ann insecure-password hunter3
cache small
  total-max-size 4
resolvers dns
  nameserver one 127.0.0.1:53
frontend 'front' from web
    bind 127.0.0.1:@PORT0@
	default_backend last#comment
listen both from base
  bind "127.0.0.1:@PORT1@"
  balance roundrobin
  server plain 10.1.1.1:80 weight 0
  server "quo"ted 10.1.1.2:81 disabled
  server-template many 3 10.1.1.3:82 check disabled
backend last from web
server a\x62c 10.2.2.2:90 weight 7
  server backup 10.2.2.3:91 backup
  no option httpclose
backend nothing from base
"""
